# PostgreSQL 13 and 17, as versions.bats has 15 and 18.

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
	load ../lab/versions.bash
}

teardown() {
	lab_trace_kill
}

@test "PostgreSQL 13: every connection is told, its phases add up, 8 program runs each" {
	version_test 13 8
}

@test "PostgreSQL 17: every connection is told, its login trigger has a phase of its own, 9 program runs" {
	version_test 17 9
}
