# The help, the man page and the program agree.

setup() {
	load ../lab/lab.bash
	cd "$LAB_ROOT" || exit
	PROGRAM=./pgdnstrace
}

commands() {
	"$PROGRAM" --help | sed -n '/^Commands/,/^$/ s/^  \([a-z]*\).*/\1/p'
}

# The long options that the help of COMMAND... names.
helped() {
	"$PROGRAM" "$@" --help | grep -oE -- '--[a-z][a-z-]+' | sort -u
}

# The long options that the man page explains.
explained() {
	mandoc -T ascii user/pgdnstrace.8 | col -b | tr -s ' \n' ' ' | grep -oE -- '--[a-z][a-z-]+' | sort -u
}

@test "the man page is clean and explains every option that a help names, and no other" {
	local command
	run -0 mandoc -T lint -W warning user/pgdnstrace.8
	{
		helped
		for command in $(commands); do
			helped "$command"
		done
	} | sort -u >"$BATS_TEST_TMPDIR/helped"
	explained >"$BATS_TEST_TMPDIR/explained"
	diff "$BATS_TEST_TMPDIR/helped" "$BATS_TEST_TMPDIR/explained"
}

@test "the man page names every command, phase, outcome and exit code" {
	local command
	for command in $(commands); do
		grep -q "^\.It Cm $command" user/pgdnstrace.8
	done
	for name in $(sed -n '/^#define PHASES/,/^$/ s/.*"\(.*\)".*/\1/p; /^#define OUTCOMES/,/^$/ s/.*"\(.*\)".*/\1/p' bpf/record.h); do
		grep -q "^\.It Cm $name" user/pgdnstrace.8
	done
	for code in $("$PROGRAM" --help | tr -s '\n ' ' ' | grep -o 'Exit:.*' | grep -oE '[0-9] ' ); do
		grep -q "^\.It $code" user/pgdnstrace.8
	done
}

@test "every line of the help fits 80 columns" {
	local command
	for command in '' $(commands); do
		run -0 "$PROGRAM" $command --help
		[ "$(awk 'length > 79' <<<"$output" | wc -l)" = 0 ]
	done
}

@test "a mistake on the command line is told, and exits with 2" {
	local line
	while read -r line; do
		# shellcheck disable=SC2086 # words
		run -2 "$PROGRAM" $line
		[ -n "$output" ]
	done <<-'LINES'
	--nope
	-p x
	-p 1 --port 5432
	-d 0
	-i never
	--by colour
	--only colour=red
	--only client=10.0.0.0/99
	--ring 1K
	--on nonsense>1
	frobnicate
	replay
	replay a b
	export
	export nonsense FILE
	report
	merge
	LINES
}
