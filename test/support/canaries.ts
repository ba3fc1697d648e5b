import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { derivePublicKey } from '../../src/keys/private-key.ts';
import { encodeBase58 } from '../../src/model/address.ts';

// Made for these tests alone: wherever one of them turns up, something leaks.
export const evmKey = 'c0ffee254729296a45a3885639ac7e10f9d54979a1b2c3d4e5f60718293a4b5c';
const seed = Buffer.from('5eed5eed5eed5eed1122334455667788990011223344556677889900aabbccdd', 'hex');
export const pair = Buffer.concat([seed, derivePublicKey(seed)]);
export const password = 'canary password 4711';
/** Characters that JSON and addresses escape. */
export const apiKey = 'canary-key/0815+"x\\y=z-end';
/** As the interface has it: any text, in the field of that name. */
export const webhookSecret = 'hush.canary.webhook.4242';
/** As it stands in running text, where only its form tells it. */
export const namedSecret = 'whsec_Y2FuYXJ5LWhvb2stc2VjcmV0LTA4MTU';

/** Words that nothing else here uses: one of them tells. */
export const phrase = 'gloom napkin zebra walnut rhythm orphan lizard jungle hamster galaxy velvet scissors';

export type Secret = 'recovery phrase' | 'EVM key' | 'Solana key' | 'password' | 'API key' | 'webhook secret';

/** Plain, and as JSON (also that of writers that escape the slash) and addresses escape it. */
const spellingsOf = (text: string): string[] => [
  text,
  JSON.stringify(text).slice(1, -1),
  JSON.stringify(text).slice(1, -1).replaceAll('/', '\\/'),
  encodeURIComponent(text),
];

function ofBytes(bytes: Buffer): string[] {
  const hex = bytes.toString('hex');
  return [
    hex,
    hex.toUpperCase(),
    bytes.toString('base64').slice(0, -4),
    bytes.toString('base64url').slice(0, -4),
    encodeBase58(bytes),
    [...bytes].join(','),
    [...bytes].join(', '),
    BigInt(`0x${hex}`).toString(),
  ];
}

/** Parts that are long enough to tell, so that a text cut off or quoted in part is found as well. */
function partsOf(text: string): string[] {
  const parts: string[] = [];
  for (let at = 0; at + 12 <= text.length; at += 4) parts.push(text.slice(at, at + 12));
  return parts;
}

/** Every form in which a secret could show. */
const forms: Readonly<Record<Secret, readonly string[]>> = {
  'EVM key': [...ofBytes(Buffer.from(evmKey, 'hex')), ...partsOf(evmKey), ...partsOf(evmKey.toUpperCase())],
  'Solana key': [
    ...ofBytes(seed),
    ...ofBytes(pair),
    ...partsOf(encodeBase58(pair).slice(0, 44)),
    ...partsOf([...seed].join(',')),
  ],
  password: [...spellingsOf(password), ...partsOf(password)],
  'recovery phrase': phrase.split(' '),
  'API key': [...spellingsOf(apiKey), ...partsOf(apiKey)],
  'webhook secret': [
    ...spellingsOf(webhookSecret),
    ...partsOf(webhookSecret),
    ...spellingsOf(namedSecret),
    ...partsOf(namedSecret.slice(8)),
  ],
};

const secrets = Object.keys(forms) as Secret[];

/** The secrets that show in a text, in whatever form. */
export function secretsIn(text: string): Secret[] {
  return secrets.filter((secret) => forms[secret].some((form) => text.includes(form)));
}

/** Every file under a folder that holds a secret, in its content or in its name: its path inside the folder, and its mode. */
export function holdersUnder(folder: string): { file: string; holds: Secret[]; mode: number }[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true, encoding: 'utf8' }).flatMap((entry) => {
    if (!entry.isFile()) return [];
    const path = join(entry.parentPath, entry.name);
    const file = relative(folder, path);
    const holds = secretsIn(`${file}\n${readFileSync(path, 'latin1')}`);
    return holds.length === 0 ? [] : [{ file, holds, mode: statSync(path).mode & 0o777 }];
  });
}
