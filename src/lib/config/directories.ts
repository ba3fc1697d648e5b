import { userInfo } from 'node:os';
import { join } from 'node:path';
import { SotraError } from '../../errors.ts';
import { type Io, platformRules } from '../io.ts';
import { readEnv } from './settings.ts';

type Machine = Pick<Io, 'env' | 'system'>;

/** `SOTRA_CONFIG_DIR`, or the platform's usual place for settings. Errors: `config` for a relative path. */
export function configDirectory(machine: Machine): string {
  return directory(machine, ['SOTRA_CONFIG_DIR', 'XDG_CONFIG_HOME', 'APPDATA'], ['.config']);
}

/** `SOTRA_DATA_DIR`, or the platform's usual place for data. Errors: `config` for a relative path. */
export function dataDirectory(machine: Machine): string {
  return directory(machine, ['SOTRA_DATA_DIR', 'XDG_DATA_HOME', 'LOCALAPPDATA'], ['.local', 'share']);
}

/** The database of the built-in sandbox. Errors: as `dataDirectory`. */
export function sandboxFile(machine: Machine): string {
  return join(dataDirectory(machine), 'sandbox.db');
}

/** Never a path relative to the current folder, where somebody else may have put files. */
function directory(
  { env, system }: Machine,
  [own, xdg, windows]: readonly [string, string, string],
  underHome: readonly string[],
): string {
  const { paths: path, hasAppData, home: variable } = platformRules(system.platform);
  const hint = `Set ${own} to an absolute path.`;
  const named = readEnv(env, own);
  if (named !== undefined) {
    if (path.isAbsolute(named)) return named;
    throw new SotraError('config', `${own} ${named}: must be an absolute path`, { hint });
  }
  // The XDG Base Directory Specification says to ignore relative paths.
  const base = [readEnv(env, xdg), hasAppData ? readEnv(env, windows) : undefined].find(
    (each) => each && path.isAbsolute(each),
  );
  if (base !== undefined) return path.join(base, 'sotra');
  const home = readEnv(env, variable) ?? homeOfUser();
  if (home !== undefined && path.isAbsolute(home)) return path.join(home, ...underHome, 'sotra');
  const why = home === undefined ? 'is not set, and this user has no home folder' : `is ${home}, not an absolute path`;
  throw new SotraError('config', `${variable} ${why}`, { hint });
}

function homeOfUser(): string | undefined {
  try {
    return userInfo().homedir || undefined;
  } catch {
    return undefined;
  }
}
