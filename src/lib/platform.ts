import { posix, win32 } from 'node:path';

/** The differences between operating systems. */
export interface PlatformRules {
  /** Whether files have a Unix mode. */
  hasModes: boolean;
  paths: typeof posix;
  /** The variable that names the home folder. */
  home: 'HOME' | 'USERPROFILE';
  /** Whether APPDATA and LOCALAPPDATA name the folders of settings and data. */
  hasAppData: boolean;
}

/** The rules of a system, by Node's name for it. */
export function platformRules(platform: string): PlatformRules {
  if (platform === 'win32')
    return {
      hasModes: false,
      paths: win32,
      home: 'USERPROFILE',
      hasAppData: true,
    };
  return { hasModes: true, paths: posix, home: 'HOME', hasAppData: false };
}

/** Variables that hold a secret of ours, which no other program needs. */
export const secretVariables: readonly string[] = ['SOTRA_API_KEY'];

/** The environment that a child gets: without our secrets. */
export function childEnv(env: Readonly<Record<string, string | undefined>>): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !secretVariables.includes(name.toUpperCase())));
}
