# shellcheck shell=bash
# Incident windows in the folder DIR, and what they hold.

# window: the window in DIR, once there is one with a name of its own.
window() {
	local files
	files=("$DIR"/pgdnstrace-*Z.jsonl)
	[[ -e ${files[0]} ]] && echo "${files[0]}"
}

# being_written: a window is under way in DIR.
being_written() {
	compgen -G "$DIR/*.partial" >/dev/null
}

# sessions FILE FROM TO: connections of a file that were accepted and over in the span.
sessions() {
	jq -r --argjson from "$2" --argjson to "$3" '
		def s: (sub("\\.[0-9]*Z$"; "Z") | fromdate) + (capture("(?<f>\\.[0-9]+)Z$").f | tonumber);
		select(.type == "conn") | (.at | s) as $at |
		select($at >= $from and $at + .total_us / 1e6 <= $to) | .session_id' "$1" | sort
}

# second_of FILE start|end BY: seconds since 1970 at which a file begins or ends, moved by some.
second_of() {
	jq -r --arg type "$2" --argjson by "$3" '
		select(.type == $type) | .at |
		(sub("\\.[0-9]*Z$"; "Z") | fromdate) + (capture("(?<f>\\.[0-9]+)Z$").f | tonumber) + $by' "$1"
}
