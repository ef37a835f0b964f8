# shellcheck shell=bash
# Reading traces: a long one made of real connections, and jq beside it for the same table.

# seconds COMMAND...: how long it took; its output goes nowhere.
seconds() {
	local from
	from=$(now_us)
	"$@" >/dev/null
	calc "($(now_us) - $from) / 1e6"
}

# per_second COUNT SECONDS
per_second() {
	calc "$1 / $2" %.0f
}

# The table by client: count, ready, p50, p99 and the most.
jq_by_client() {
	jq -nr '[inputs | select(.type == "conn") | { client, outcome, wait: (.wait_us // .total_us) }] |
		group_by(.client)[] | (map(.wait) | sort) as $wait | [.[0].client, length,
		(map(select(.outcome == "ready")) | length), $wait[length / 2 | floor],
		$wait[length * 0.99 | floor], $wait[-1]] | @tsv' "$1"
}

part_files() {
	local trace=$LAB_DIR/long.jsonl slice=$LAB_DIR/slice.jsonl ours=$LAB_ROOT/pgdnstrace sliced jq_s
	lab_say "a trace of $long connections"
	"$LAB_HOME/multiply" "$LAB_ROOT/tests/data/incident.jsonl" "$long" >"$trace"
	sliced=$((long / 20))
	"$LAB_HOME/multiply" "$LAB_ROOT/tests/data/incident.jsonl" "$sliced" >"$slice"
	head_line "Files: $long connections, $(($(stat -c %s "$trace") / 1000000)) MB; connections/s"
	row 'replay --by client' "$(per_second "$long" "$(seconds "$ours" replay --text --by client "$trace")")"
	row 'export csv' "$(per_second "$long" "$(seconds "$ours" export csv -o "$LAB_DIR/long.csv" "$trace")")"
	rm -f "$LAB_DIR/long.csv"
	row 'export perfetto' "$(per_second "$sliced" "$(seconds "$ours" export perfetto -o "$LAB_DIR/slice.out" "$slice")")"
	rm -f "$LAB_DIR/slice.out"
	jq_s=$(seconds jq_by_client "$slice")
	row 'jq, the same table by client' "$(per_second "$sliced" "$jq_s")" \
		"on $sliced; all: ~$(calc "$jq_s * 20" %.0f)s"
	row 'replay: most memory, MB' "$(replay_memory "$trace")"
	rm -f "$trace" "$slice"
}

# The most memory that replay had.
replay_memory() {
	local kb
	kb=$(bash -c '"$0" replay --text --by client "$1" >/dev/null & pid=$!; most=0
		while read -r key value _ < <(grep -s VmHWM "/proc/$pid/status"); do most=$value; sleep 0.02; done
		echo "$most"' "$LAB_ROOT/pgdnstrace" "$1" 2>/dev/null)
	calc "$kb / 1024" %.1f
}
