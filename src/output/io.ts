/** The reader of stdout has gone (`| head -1`): the command ends quietly. */
export class ClosedPipe extends Error {}

/** COLUMNS if it is a number of at most four digits, else the terminal's width, else 80. */
export function lineWidth(env: Readonly<Record<string, string | undefined>>, terminal: number | undefined): number {
  const columns = env['COLUMNS'] ?? '';
  return (/^\d{1,4}$/.test(columns) && Number(columns)) || terminal || 80;
}

/** No color without a terminal, with NO_COLOR or a dumb terminal; FORCE_COLOR (0..3) overrides. Source: no-color.org, force-color.org. */
export function colorLevel(
  env: Readonly<Record<string, string | undefined>>,
  isTTY: boolean,
  depth: number,
): 0 | 1 | 2 | 3 {
  const forced = env['FORCE_COLOR'];
  if (forced !== undefined && forced !== '') return forced === '0' || forced === 'false' ? 0 : levelOf(forced);
  if ((env['NO_COLOR'] ?? '') !== '' || env['TERM'] === 'dumb' || !isTTY) return 0;
  return depth >= 24 ? 3 : depth >= 8 ? 2 : depth >= 4 ? 1 : 0;
}

function levelOf(forced: string): 1 | 2 | 3 {
  return forced === '3' ? 3 : forced === '2' ? 2 : 1;
}
