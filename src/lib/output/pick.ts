import { safeText } from '../../api/safe-text.ts';
import type { Io } from '../io.ts';

/** A value to pick, and its line. */
export interface Choice<T> {
  value: T;
  line: string;
}

/** Asks on the terminal for one of the choices by its number; `undefined` for an empty answer. */
export async function pick<T>(title: string, choices: readonly Choice<T>[], io: Io): Promise<T | undefined> {
  const lines = choices.map(({ line }, index) => `${String(index + 1).padStart(4)}  ${safeText(line)}`);
  await io.err.write(`${[title, ...lines].join('\n')}\n`);
  for (;;) {
    const answer = (await io.ask('Number: ', { hidden: false })).trim();
    if (answer === '') return undefined;
    const picked = choices[Number(answer) - 1];
    if (picked !== undefined) return picked.value;
    await io.err.write(`There is no number ${safeText(answer)}.\n`);
  }
}
