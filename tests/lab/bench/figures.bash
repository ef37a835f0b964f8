# shellcheck shell=bash
# Arithmetic of the benchmark, and what the kernel says about processes.

# calc EXPRESSION [FORMAT]: what awk makes of it.
calc() {
	awk "BEGIN { printf \"${2:-%.3f}\", ($1) }"
}

# median_ci [FORMAT]: of the numbers on standard input, one a line, the median and its 95 %
# confidence interval: the two order statistics between which the median of the population lies
# with at least that probability, whatever its distribution (binomial with p = 1/2).
median_ci() {
	sort -g | awk -v format="${1:-%.3f}" '
		{ v[NR] = $1 }
		function show(x) { return sprintf(format, x) }
		END {
			if (!NR) { print "- - -"; exit }
			p = 0.5 ^ NR
			for (k = 0; sum + p <= 0.025 && k < NR / 2 - 1; k++) { sum += p; p *= (NR - k) / (k + 1) }
			low = k ? k : 1
			middle = NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2
			print show(middle), show(v[low]), show(v[NR + 1 - low])
		}'
}

median() {
	median_ci "${1:-%.3f}" | cut -d ' ' -f 1
}

# now_us: the wall clock.
now_us() {
	echo "${EPOCHREALTIME/./}"
}

# cpu_ticks PID: its own CPU time so far, in ticks of 10 ms.
cpu_ticks() {
	local f
	read -ra f <"/proc/$1/stat"
	echo $((f[13] + f[14]))
}

# family_ticks PID: the same with that of all its children that have ended.
family_ticks() {
	local f
	read -ra f <"/proc/$1/stat"
	echo $((f[13] + f[14] + f[15] + f[16]))
}

# memory_kb PID FIELD: VmRSS, VmHWM, ...
memory_kb() {
	awk -v field="$2:" '$1 == field { print $2 }' "/proc/$1/status"
}

# row TEXT VALUE [REMARK]: one line of the table.
row() {
	printf '  %-44s %8s  %s\n' "$1" "$2" "${3:-}" | sed 's/ *$//'
}

head_line() {
	printf '\n%s\n' "$*"
}
