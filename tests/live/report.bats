# The HTML report, looked at in headless Chromium (scripts/setup --browser): every chart has pixels,
# nothing is asked of the network, names stay text.

load ../lab/lab.bash

data=$LAB_ROOT/tests/data

setup_file() {
	load ../lab/lab.bash
	jq -c 'if .type == "conn" then
			.user = "<script>alert(1)</script>" | .database = "</script><img src=x onerror=alert(2)>" |
			.application = "\u202egnp.exe\u0001" |
			if .lookups then .lookups[].name = "\"><svg onload=alert(3)>.example" else . end
		else . end' "$LAB_ROOT/tests/data/dead_dns.jsonl" >"$BATS_FILE_TMPDIR/hostile.jsonl"
}

needs_browser() {
	command -v chromium >/dev/null || skip 'no chromium: scripts/setup --browser installs it'
}

# report TRACE [OPTION...]: make page.html of it.
report() {
	local trace=$1
	shift
	"$LAB_ROOT/pgdnstrace" report -o "$BATS_TEST_TMPDIR/page.html" "$@" "$trace"
}

# browse [OPTION...]: what a browser makes of page.html, in seen.json.
browse() {
	timeout 120 "$LAB_HOME/browser" "$BATS_TEST_TMPDIR/page.html" "$@" >"$BATS_TEST_TMPDIR/seen.json"
}

seen() {
	jq -e "$@" "$BATS_TEST_TMPDIR/seen.json"
}

# Of the page's data.
page_data() {
	sed -n 's/.*<script type="application\/json" id="data">\(.*\)<\/script>$/\1/p' "$BATS_TEST_TMPDIR/page.html" | jq -r "$@"
}

@test "every chart is drawn, without an error and without a request, in light and dark and on a phone" {
	needs_browser
	report "$data/reload.jsonl"
	for look in '' --dark '--width 390'; do
		# shellcheck disable=SC2086 # options
		browse $look
		seen '.ready and .errors == [] and .requests == []'
		seen '.charts | length >= 5 and all(.drawn > 2000 and .colours > 20)'
		seen '.overflow <= 0'
	done
}

@test "every recorded trace makes a page without an error" {
	needs_browser
	for trace in "$data"/*.jsonl; do
		"$LAB_ROOT/pgdnstrace" report -o "$BATS_TEST_TMPDIR/$(basename "$trace").html" "$trace"
	done
	timeout 240 "$LAB_HOME/browser" "$BATS_TEST_TMPDIR"/*.html >"$BATS_TEST_TMPDIR/seen.json"
	run -0 jq -c 'select((.ready and .errors == [] and .requests == [] and .unlabelled == 0) | not)
		| [.page, .errors, .requests]' "$BATS_TEST_TMPDIR/seen.json"
	[ "$output" = '' ]
	[ "$(wc -l <"$BATS_TEST_TMPDIR/seen.json")" -eq "$(ls "$data"/*.jsonl | wc -l)" ]
}

@test "a name that is markup stays text" {
	needs_browser
	report "$BATS_FILE_TMPDIR/hostile.jsonl"
	browse
	seen '.ready and .errors == [] and .requests == [] and .scripts == 3'
	seen '.text | contains("<script>alert(1)</script>")'
	seen '.text | contains("\u202e") | not'
}

@test "the page begins with the impact, and says how to see it again" {
	needs_browser
	report "$data/dead_dns.jsonl"
	browse
	seen '.text | contains("gave up")'
	seen '.text | test("dig -x 10\\.42\\.0\\.[0-9]+ @127\\.0\\.0\\.1")'
	seen '.text | contains("REVERSE DNS")'
}

@test "times are told as the server's log has them too, when its zone is one" {
	needs_browser
	for zone in Europe/Berlin 'no/zone<b>'; do
		jq -c --arg zone "$zone" 'if .type == "start" then .time_zone = $zone | .at = "2026-10-02T10:06:26Z" else . end' \
			"$data/silence.jsonl" >"$BATS_TEST_TMPDIR/zone.jsonl"
		report "$BATS_TEST_TMPDIR/zone.jsonl"
		browse
		seen '.ready and .errors == []'
		[ "$zone" != Europe/Berlin ] || seen '.text | test("by the server’s log 2 Oct 2026, 12:06:26 .* Europe/Berlin")'
	done
}

@test "hidden values are nowhere on the page, and the same pseudonyms come again" {
	jq -c 'if .type == "conn" then .user = "alice" | .database = "payroll" | .application = "hrtool" else . end' \
		"$data/dead_dns.jsonl" >"$BATS_TEST_TMPDIR/secret.jsonl"
	report "$BATS_TEST_TMPDIR/secret.jsonl" --hide user,database,application,client
	run -1 grep 'alice\|payroll\|hrtool\|10\.42\.\|example' <<<"$(page_data .)"
	first=$(page_data '.tables[0].rows[].value')
	[[ $first == client-* ]]
	report "$BATS_TEST_TMPDIR/secret.jsonl" --hide client
	[ "$(page_data '.tables[0].rows[].value')" = "$first" ]
	grep alice <<<"$(page_data .)"
	report "$data/dead_dns.jsonl" --hide client
	run -1 grep -xF "$first" <<<"$(page_data '.tables[0].rows[].value')"
}

@test "a trace that was cut off makes a page that says so, and exit 1" {
	head -n 5 "$data/healthy.jsonl" >"$BATS_TEST_TMPDIR/cut.jsonl"
	run -1 report "$BATS_TEST_TMPDIR/cut.jsonl"
	[[ $output == *"cut off"* ]]
	[ "$(page_data .complete)" = false ]
	run -1 report "$data/record"
	[ "${#lines[@]}" -eq 1 ]
}

@test "what cannot be hidden, or no trace, is a question of usage" {
	run -2 report "$data/healthy.jsonl" --hide outcome
	[[ $output == *"'outcome'"* ]]
	run -2 "$LAB_ROOT/pgdnstrace" report
}
