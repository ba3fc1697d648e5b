import type { Context } from '../../context.ts';
import { usageError } from '../../errors.ts';
import { describeStoredKey, keyFolder, readStoredKey, type StoredKey, writeSecretFile } from '../../keys/keystore.ts';
import { openKey } from '../../keys/open-key.ts';
import { derivePublicKey, type PrivateKey } from '../../keys/private-key.ts';
import { confirmReplace, showPlan } from '../../lib/output/confirm.ts';
import { safeJson } from '../../lib/output/json.ts';
import type { Result } from '../../lib/output/result.ts';

interface ExportInput {
  name: string;
  out?: string | undefined;
  unencrypted?: boolean | undefined;
  passwordFile?: string | undefined;
}

/** The keystore of a stored key, or with `unencrypted` the key itself in a file. Errors: `usage`, `signing-key`, `local-file`. */
export async function exportKey(input: ExportInput, context: Context): Promise<Result> {
  const { name, out, unencrypted, passwordFile } = input;
  if (passwordFile !== undefined && !unencrypted)
    throw usageError(
      '--password-file needs --unencrypted: an encrypted export needs no password',
      'Omit --password-file, or add --unencrypted.',
    );
  if (out === undefined && unencrypted)
    throw usageError(
      '--unencrypted needs --out: an unencrypted key is never written to the screen or a pipe',
      'Add --out <file>.',
    );
  const { stored, json } = readStoredKey(await keyFolder(context), name);
  const form = unencrypted ? ', unencrypted' : '';
  if (context.options.dryRun) {
    if (out === undefined) throw usageError('--dry-run needs --out: without it nothing is written', 'Omit --dry-run.');
    return showPlan([{ action: 'write', what: `key ${name}${form}`, detail: out }]);
  }
  const sealed = `${safeJson(JSON.stringify(json, null, 2))}\n`;
  if (out === undefined) return { kind: 'text', text: sealed };
  await confirmReplace('--out', out, context);
  if (unencrypted) await writePlainKey(stored, { out, passwordFile }, context);
  else writeSecretFile(out, sealed, { exclusive: false });
  if (!unencrypted && stored.family === 'solana')
    context.note('Only sotra opens this file. For other Solana wallets, export it with --unencrypted.');
  context.note(`Exported ${describeStoredKey(stored)} to ${out}${form}.`);
  return { kind: 'none' };
}

async function writePlainKey(
  { name, family }: StoredKey,
  { out, passwordFile }: { out: string; passwordFile: string | undefined },
  context: Context,
): Promise<void> {
  const key = await openKey({ key: name, passwordFile }, family, context);
  try {
    writeSecretFile(out, formatPlainKey(key), { exclusive: false });
  } finally {
    key.bytes.fill(0);
  }
}

function formatPlainKey({ family, bytes }: PrivateKey): string {
  if (family === 'evm') return `0x${Buffer.from(bytes).toString('hex')}\n`;
  return `${JSON.stringify([...bytes, ...derivePublicKey(bytes)])}\n`;
}
