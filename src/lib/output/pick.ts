import { safeText } from '../../api/safe-text.ts';
import type { Io } from '../io.ts';

/** A value to pick, and its line. */
export interface Choice<T> {
  value: T;
  line: string;
}

const maxShown = 12;

/** Asks on the terminal for one of the choices, by its number or a part of its line; `undefined` for an empty answer. */
export async function pick<T>(title: string, choices: readonly Choice<T>[], io: Io): Promise<T | undefined> {
  let matching = choices;
  for (;;) {
    const shown = matching.slice(0, maxShown);
    const lines = shown.map(({ line }, index) => `${String(index + 1).padStart(4)}  ${safeText(line)}`);
    const rest = matching.length - shown.length;
    await io.err.write(`${[title, ...lines, ...(rest > 0 ? [`      and ${rest} more`] : [])].join('\n')}\n`);
    const answer = (await io.ask('Number, or part of the text: ', { hidden: false })).trim();
    if (answer === '') return undefined;
    const numbered = /^\d{1,2}$/.test(answer) ? shown[Number(answer) - 1] : undefined;
    if (numbered !== undefined) return numbered.value;
    const found = choices.filter(({ line }) => line.toLowerCase().includes(answer.toLowerCase()));
    if (found.length === 1) return found[0]?.value;
    if (found.length === 0) await io.err.write(`Nothing matches ${safeText(answer)}.\n`);
    matching = found.length === 0 ? choices : found;
  }
}
