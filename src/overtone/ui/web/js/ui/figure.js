/** The frame of a plot: title, controls, a summary in words, and the same data as a table. */
import { html, useId, useState } from "../html.js";
import { t } from "../i18n.js";
import { Button } from "./button.js";
import { DataTable } from "./table.js";

/**
 * @param {{title: any, summary: string, table?: () => {columns: import("./table.js").TableColumn[], rows: any[]},
 *   controls?: any, note?: any, children?: any, level?: 2 | 3}} props `summary` says in one or two sentences
 *   what is to be seen, for people who do not see it; `table` is called when the table is shown; `note` is
 *   a line below the figure.
 */
export function Figure({ title, summary, table, controls, note, children, level = 2 }) {
  const [isTable, setTable] = useState(false);
  const id = useId();
  const data = isTable && table ? table() : null;
  return html`<section class="figure" role="group" aria-labelledby=${`${id}-title`} aria-describedby=${`${id}-summary`}>
    <header class="figure-head">
      <${`h${level}`} id=${`${id}-title`} class="figure-title">${title}</>
      <div class="figure-controls">${controls}
        ${table && html`<${Button} kind="quiet" small=${true} isPressed=${isTable} onClick=${() => setTable(!isTable)}
          label=${t(isTable ? "shell.as_figure" : "shell.as_table")} />`}</div>
    </header>
    <p id=${`${id}-summary`} class="hidden-text">${summary}</p>
    ${data
      ? html`<${DataTable} caption=${typeof title === "string" ? title : summary} columns=${data.columns} rows=${data.rows} />`
      : html`<div class="figure-body">${children}</div>`}
    ${note && html`<p class="figure-note faint">${note}</p>`}
  </section>`;
}
