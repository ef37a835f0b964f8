/* SPDX-License-Identifier: BSD-2-Clause */
/* Each file between two symbols, a NUL behind it. CHART_JS comes from the Makefile. */
	.section .rodata

	.macro asset name, path
	.global asset_\name
	.global asset_\name\()_end
asset_\name:
	.incbin "\path"
asset_\name\()_end:
	.byte 0
	.endm

	asset html, "user/export/report.html"
	asset css, "user/export/report.css"
	asset js, "user/export/report.js"
	asset chart, CHART_JS

	.section .note.GNU-stack, "", %progbits
