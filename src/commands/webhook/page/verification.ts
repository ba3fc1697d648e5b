import { readHeader, timestampMs, untimelyReason } from '../../../api/signature-header.ts';
import { matchingSecret, writeHeader } from '../../../api/webhook-signature.ts';
import type { Context } from '../../../context.ts';
import { readOwnSecrets } from '../../../lib/files/source.ts';
import { formatAge, formatCount, formatTime } from '../../../lib/output/format.ts';
import type { VerificationStep } from '../../../pages/activity.ts';
import { signatureIn } from '../../../webhooks/forward.ts';
import type { RefusedRequest } from '../../../webhooks/listener.ts';
import { verifyDelivery } from '../../../webhooks/verify.ts';

interface SignedDelivery {
  header: string | undefined;
  /** `undefined` if it was not kept. */
  body: Buffer | undefined;
  /** When it arrived. */
  atMs: number;
  /** Digits that identify the secret that matched when it arrived; `undefined` if none did. */
  storedSecret?: string;
}

interface VerificationRules {
  secrets: readonly NamedSecret[];
  toleranceMs: number | undefined;
}

/** The checks of a signature in order, up to the first that fails; never a secret. */
export function verificationSteps(
  signed: SignedDelivery,
  { secrets, toleranceMs }: VerificationRules,
): VerificationStep[] {
  const { header, body, atMs, storedSecret } = signed;
  const parsed = readHeader(header);
  if (typeof parsed === 'string') return [{ name: 'Header', text: parsed, ok: false }];
  const { timestamp, signatures } = parsed;
  const signedAt = Math.floor(timestampMs(timestamp) / 1000);
  const untimely = untimelyReason(parsed, { nowMs: atMs, toleranceMs });
  const within =
    toleranceMs === undefined ? 'any age is accepted' : `at most ${formatAge(0, toleranceMs / 1000)} is accepted`;
  const steps: VerificationStep[] = [
    { name: 'Header', text: `t=${timestamp}, ${signatures.map((each) => `v1=${each}`).join(', ')}`, ok: true },
    { name: 'Timestamp', text: formatTime(signedAt) },
    {
      name: 'Age',
      text: untimely ?? `${formatAge(signedAt, Math.floor(atMs / 1000))} when it arrived; ${within}`,
      ok: untimely === undefined,
    },
  ];
  if (body === undefined) return [...steps, { name: 'Signed text', text: 'the body was not kept' }];
  steps.push({
    name: 'Signed text',
    text: `${timestamp}. followed by the ${formatCount(body.length)} bytes of the body`,
  });
  const named = secrets.map(({ secret }) => secret);
  const found = secrets[matchingSecret(parsed, body, named)];
  if (found !== undefined)
    steps.push({ name: 'Secret', text: `the signature matches the secret in ${found.name}`, ok: true });
  else if (storedSecret !== undefined)
    steps.push({ name: 'Secret', text: `the signature matched secret ${storedSecret} when it arrived`, ok: true });
  else {
    const { reason = '' } = verifyDelivery({ header, body }, named, { nowMs: atMs, toleranceMs });
    const expected = secrets.map(({ name, secret }) => ({
      name: 'Expected',
      text: `${writeHeader(secret, timestamp, body)} with the secret in ${name}`,
    }));
    steps.push({ name: 'Secret', text: reason, ok: false }, ...expected);
  }
  return steps;
}

/** Why a request was refused, in more detail than its sender gets. */
export function explainRefusal(
  { headers, body, reason, atMs }: RefusedRequest,
  secrets: readonly NamedSecret[],
): string {
  const header = signatureIn(headers);
  if (body === undefined || header === undefined) return reason;
  const given = secrets.map(({ secret }) => secret);
  const verdict = verifyDelivery({ header, body }, given, { nowMs: atMs, toleranceMs: undefined });
  return verdict.reason ?? reason;
}

/** A secret with the name of the file that holds it. */
export interface NamedSecret {
  name: string;
  secret: string;
}

/** The secrets of files; warns where others may read one. Errors: `local-file`. */
export async function readNamedSecrets(files: readonly string[], context: Context): Promise<NamedSecret[]> {
  const named: NamedSecret[] = [];
  for (const file of files) {
    const secrets = await readOwnSecrets([file], context);
    const nameSecretAt = (index: number) =>
      secrets.length === 1 ? file : `${file} (${index + 1} of ${secrets.length})`;
    named.push(...secrets.map((secret, index) => ({ name: nameSecretAt(index), secret })));
  }
  return named;
}
