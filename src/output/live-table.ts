/** Rows that keep a live table's columns where they are: the widest cells of late decide. */
const remembered = 50;

/**
 * Writes batches of rows that arrive over time as one table: the columns are laid out for the latest rows, and their header is written again
 * only when it changes. `render` gives a table of the rows: header, rule, one line a row; anything else is written as it is.
 * Throws what `render` throws.
 */
export function liveTable(
  render: (rows: readonly unknown[]) => Promise<string>,
): (batch: readonly unknown[]) => Promise<string> {
  let recent: readonly unknown[] = [];
  let written = '';
  return async (batch) => {
    const rows = [...recent, ...batch];
    recent = rows.slice(-remembered);
    const lines = (await render(rows)).split('\n');
    if (lines.length !== rows.length + 3) return render(batch);
    const header = lines.slice(0, 2).join('\n');
    const body = lines.slice(2 + rows.length - batch.length).join('\n');
    const isNew = header !== written;
    written = header;
    return isNew ? `${header}\n${body}` : body;
  };
}
