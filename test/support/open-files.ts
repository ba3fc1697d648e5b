import { existsSync, readdirSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';

const folder = '/proc/self/fd';

/** Whether this system tells which files a process has open. */
export const tellsOpenFiles = existsSync(folder);

/** True where this process has a file open. */
export function isOpen(file: string): boolean {
  return readdirSync(folder).some((handle) => {
    const at = join(folder, handle);
    return existsSync(at) && readlinkSync(at) === file;
  });
}
