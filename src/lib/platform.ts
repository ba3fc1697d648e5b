import { posix, win32 } from 'node:path';

/** The rules of a system, by Node's name for it. */
export function platformRules(platform: string) {
  const isWindows = platform === 'win32';
  return {
    /** Whether files have a Unix mode. */
    hasModes: !isWindows,
    paths: isWindows ? win32 : posix,
    /** The variable that names the home folder. */
    home: isWindows ? 'USERPROFILE' : 'HOME',
    /** Whether APPDATA and LOCALAPPDATA name the folders of settings and data. */
    hasAppData: isWindows,
  };
}

/** Variables that hold a secret of ours, which no other program needs. */
export const secretVariables: readonly string[] = ['SOTRA_API_KEY'];

/** The environment that a child gets: without our secrets. */
export function childEnv(env: Readonly<Record<string, string | undefined>>): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !secretVariables.includes(name.toUpperCase())));
}
