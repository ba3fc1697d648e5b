import type { Command } from '../cli/command.ts';
import { option } from '../cli/params.ts';
import { parseDuration } from '../model/duration.ts';
import type { RowKey } from './changes.ts';

const [minEveryMs, maxEveryMs] = [100, 3_600_000];

/** A flag that takes an interval; `bare` is the one where none is typed. */
export const intervalParam = (help: string, bare?: string) =>
  option.checked(help, isInterval, 'must be a time from 100ms to 1h, such as 5s', bare === undefined ? {} : { bare });

function isInterval(text: string): boolean {
  const ms = parseDuration(text);
  return ms !== undefined && ms >= minEveryMs && ms <= maxEveryMs;
}

export const everyMsOf = (watch: string): number => parseDuration(watch) ?? minEveryMs;

/** The command with `--watch`: its table drawn again in place with what changed marked, or elsewhere what changed, one object a line. */
export function watched(command: Command, rowKey: RowKey): Command {
  return {
    ...command,
    params: {
      ...command.params,
      watch: intervalParam('run it again this often, marking what changed; in a pipe print changes', '10s'),
    },
    rowKey,
  };
}
