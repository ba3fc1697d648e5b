/** A stream that text goes to. `write` resolves when more may be written; it throws ClosedPipe when the reader is gone. */
export interface Sink {
  write: (text: string) => Promise<void>;
  /** The same for text that is UTF-8 already, where the stream takes it. */
  writeBytes?: (bytes: Uint8Array) => Promise<void>;
  isTTY: boolean;
  /** Columns of the terminal; 80 where it is none. */
  width: number;
  /** 0 none, 1 sixteen colours, 2 256, 3 true colour. */
  colourLevel: 0 | 1 | 2 | 3;
}

export interface Io {
  out: Sink;
  err: Sink;
  in: AsyncIterable<Uint8Array> & { isTTY?: boolean };
  /**
   * One line typed by the user at the terminal, without its end; of a hidden one nothing is shown. Only where `in.isTTY`. Rejects when
   * the user gives up (Ctrl-C, Ctrl-D).
   */
  ask: (question: string, options: { hidden: boolean }) => Promise<string>;
}

/** The reader of our output has gone (`| head -1`): the command ends quietly. */
export class ClosedPipe extends Error {}

/** Columns for a stream: COLUMNS where it is a whole number of at most four digits, else the terminal's, else 80. Never throws. */
export function lineWidth(env: Readonly<Record<string, string | undefined>>, terminal: number | undefined): number {
  const asked = env['COLUMNS'] ?? '';
  return (/^\d{1,4}$/.test(asked) && Number(asked)) || terminal || 80;
}

/**
 * The colour level of a stream: none without a terminal, with NO_COLOR or a dumb terminal; FORCE_COLOR (0..3) decides over
 * all. Never throws. Source: no-color.org, force-color.org.
 */
export function colourLevel(
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
