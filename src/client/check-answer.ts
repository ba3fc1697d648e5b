import type { z } from 'zod';
import type { Endpoint, InputOf, Params } from '../api/endpoint.ts';
import { findMismatch } from '../api/mismatch.ts';
import { SotraError } from '../errors.ts';
import { type CallAnswer, type ClientConfig, callEndpoint, type RequestChange } from './client.ts';

/**
 * The answer of one endpoint, compared with its schema. Errors: those of `callEndpoint`; `contract` for a wrong shape if strict (else a warning
 * that names the path).
 */
export async function callAndCheck<P extends Params, Answer>(
  endpoint: Endpoint<string, P, Answer>,
  input: InputOf<P>,
  config: ClientConfig & { strict: boolean },
  change?: RequestChange,
): Promise<CallAnswer<Answer>> {
  // The schema is loaded while the service answers.
  const [answer, schema] = await Promise.all([
    callEndpoint<P, Answer>(endpoint, input, config, change),
    endpoint.answer(),
  ]);
  const mismatch = answer.isEmpty ? undefined : findMismatch(schema as z.ZodType, answer.data, config.strict);
  if (mismatch === undefined) return answer;
  const message = `${endpoint.method} ${endpoint.path} answered with ${mismatch}`;
  const { status, requestId } = answer;
  if (config.strict) throw new SotraError('contract', message, { status, requestId });
  config.warn?.(message);
  return answer;
}
