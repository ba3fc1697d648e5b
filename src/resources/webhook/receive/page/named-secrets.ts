import type { Context } from '../../../../context.ts';
import { readOwnSecrets } from '../../secrets.ts';

/** A secret with the name of the file that holds it. */
export interface NamedSecret {
  name: string;
  secret: string;
}

/** The secrets of files; warns where others may read one. Errors: `local-file`. */
export function readNamedSecrets(files: readonly string[], context: Context): NamedSecret[] {
  return files.flatMap((file) => {
    const secrets = readOwnSecrets([file], context);
    const nameOf = (index: number) => (secrets.length === 1 ? file : `${file} (${index + 1} of ${secrets.length})`);
    return secrets.map((secret, index) => ({ name: nameOf(index), secret }));
  });
}
