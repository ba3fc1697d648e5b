import { readHeader } from '../../api/signature-header.ts';
import { writeHeader } from '../../api/webhook-signature.ts';
import type { Context } from '../../context.ts';
import { usageError } from '../../errors.ts';
import { readOwnSecrets, readWhole } from '../../lib/files/source.ts';
import type { Result } from '../../lib/output/view.ts';
import { verifyDelivery } from '../../webhooks/verify.ts';
import type { VerifyInput } from './params.ts';
import { describeAge, verdict as verdictView } from './view.ts';

/** The tolerance of most receivers. */
const usualToleranceSec = 300;
const maxVerifiedBytes = 64 * 1024 ** 2;

/** Verifies one saved delivery, its body from stdin or a file; exit 12 when it is not valid. */
export async function verifySaved(input: VerifyInput, context: Context): Promise<Result> {
  const { io } = context;
  const secrets = await readOwnSecrets(input.secretFile, context);
  const delivery = { header: input.header, body: await readWhole(input.file ?? '-', io, maxVerifiedBytes) };
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
    view: verdictView,
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
