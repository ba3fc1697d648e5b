import { readHeader, timestampMs, untimelyReason } from '../../api/signature-header.ts';
import { matchingSecret, writeHeader } from '../../api/webhook-signature.ts';
import type { Context } from '../../context.ts';
import { usageError } from '../../errors.ts';
import { readOwnSecrets, readWhole } from '../../lib/files/source.ts';
import { formatAge, formatCount, formatTime } from '../../lib/output/format.ts';
import type { Result } from '../../lib/output/view.ts';
import type { VerificationStep } from '../../pages/activity.ts';
import { signatureIn } from '../../webhooks/forward.ts';
import type { RefusedRequest } from '../../webhooks/listener.ts';
import { verifyDelivery } from '../../webhooks/verify.ts';
import type { VerifyInput } from './params.ts';
import { describeAge } from './view.ts';

/** The tolerance of most receivers. */
const usualToleranceSec = 300;
const maxBodyBytes = 64 * 1024 ** 2;

/** Verifies one saved delivery, its body from stdin or a file; exit 12 when it is not valid. */
export async function verifySaved(input: VerifyInput, context: Context): Promise<Result> {
  const { io } = context;
  const secrets = await readOwnSecrets(input.secretFile, context);
  const delivery = {
    header: input.header,
    body: await readWhole(input.file ?? '-', io, { flag: '--file', maxBytes: maxBodyBytes }),
  };
  const { tolerance: toleranceMs } = input;
  const answer = verifyDelivery(delivery, secrets, { nowMs: io.now(), toleranceMs });
  const nowSec = Math.floor(io.now() / 1000);
  const ageSec = answer.timestamp === null ? null : nowSec - answer.timestamp;
  if (answer.valid && toleranceMs === undefined && Math.abs(ageSec ?? 0) > usualToleranceSec)
    context.warn(
      `${describeAge(ageSec ?? 0)}: anyone who saw this delivery can replay it; --tolerance 5m rejects older ones`,
    );
  const expected = input.explain ? expectedSignatures(delivery, secrets) : undefined;
  return {
    kind: 'answer',
    answer: { ...answer, ageSec, ...(expected && { expected }) },
    exitCode: answer.valid ? 0 : 12,
  };
}

/** The header that each secret gives. Errors: `usage` for a header without a time. */
function expectedSignatures(
  { header, body }: { header: string | undefined; body: Uint8Array },
  secrets: readonly string[],
): string[] {
  const parsed = readHeader(header);
  if (typeof parsed === 'string')
    throw usageError(`--explain: ${parsed}`, 'Its t=<seconds> is part of the signed text.');
  return secrets.map((secret) => writeHeader(secret, parsed.timestamp, body));
}

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
  toleranceMs: number;
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
  const within = `at most ${formatAge(0, toleranceMs / 1000)} is accepted`;
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
