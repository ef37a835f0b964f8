# report --resolve: names of clients, asked of the lab's name server.

setup_file() {
	load ../lab/lab.bash
	lab_begin
	lab_dns_start
}

teardown_file() {
	load ../lab/lab.bash
	lab_end
}

setup() {
	load ../lab/lab.bash
	lab_dns
}

# report TRACE [OPTION...]: page.html of it, made in the lab.
report() {
	lab_in "$LAB_ROOT/pgdnstrace" report --resolve -o "$LAB_DIR/page.html" "$@"
}

page_data() {
	sed -n 's/.*<script type="application\/json" id="data">\(.*\)<\/script>$/\1/p' "$LAB_DIR/page.html" | jq -r "$@"
}

# A recorded trace whose clients are those of the lab that have a name, one that lies, or none.
trace_of_all_kinds() {
	jq -c --argjson clients '[1, 66, 67, 210]' '
		if .type == "conn" then .client = "10.42.0.\($clients[.pid % 4])" else . end' \
		"$LAB_ROOT/tests/data/healthy.jsonl"
}

@test "names of clients are asked for, and held against the address they lead to" {
	trace_of_all_kinds >"$LAB_DIR/clients.jsonl"
	report "$LAB_DIR/clients.jsonl"
	run -0 page_data '.names[] | "\(.address) \(.name) \(.state)"'
	[[ $output == *'10.42.0.1 client-1.example verified'* ]]
	[[ $output == *'10.42.0.66 10.0.0.5 does not resolve back'* ]]
	[[ $output == *'10.42.0.67 elsewhere.example does not resolve back'* ]]
	[[ $output == *'10.42.0.210  no name'* ]]
}

@test "names of hidden clients are hidden, whether they lead back is not" {
	trace_of_all_kinds >"$LAB_DIR/clients.jsonl"
	report --hide client "$LAB_DIR/clients.jsonl"
	run -0 page_data '[.names[].state] | sort | join(",")'
	[ "$output" = 'does not resolve back,does not resolve back,no name,verified' ]
	run -1 grep 'example\|10\.42' <<<"$(page_data .)"
}

@test "a dead name server delays the page, and does not stop it" {
	lab_dns drop
	report "$LAB_ROOT/tests/data/healthy.jsonl"
	run -0 page_data '[.names[].state] | unique | join(",")'
	[ "$output" = 'no answer' ]
}
