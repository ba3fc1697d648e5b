import { existsSync, readdirSync, readFileSync } from 'node:fs';

export interface Process {
  pid: number;
  line: string;
  environment: string;
}

/** Whether other processes can be looked at as these tests do it. */
export const canLook = existsSync('/proc/self/cmdline');

/** The processes that carry a variable of that value: all that a command started, also those that it let go. */
export function processesWith(marker: string): Process[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const environment = readFileSync(`/proc/${name}/environ`, 'utf8');
      if (!environment.includes(marker)) return [];
      const line = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ');
      return [{ pid: Number(name), line, environment }];
    } catch {
      // It ended meanwhile, or belongs to somebody else.
      return [];
    }
  });
}
