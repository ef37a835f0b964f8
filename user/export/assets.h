/* SPDX-License-Identifier: BSD-2-Clause */
/* Files that are built into the program (assets.S): the report's parts and Chart.js. */
#ifndef PGDNSTRACE_ASSETS_H
#define PGDNSTRACE_ASSETS_H

extern const char asset_html[], asset_html_end[];
extern const char asset_css[], asset_css_end[];
extern const char asset_js[], asset_js_end[];
extern const char asset_chart[], asset_chart_end[];

#endif
