import type { Io } from '../lib/io.ts';

/** One command line as it runs. */
export interface Session {
  /** As typed. */
  argv: readonly string[];
  io: Io;
  /** Writes a line on stderr. */
  say: (line: string) => void;
  /** From now on lines are written as they come, also with `--json`. */
  stream: () => void;
  /** Of the command that ran. */
  exitCode: number;
}
