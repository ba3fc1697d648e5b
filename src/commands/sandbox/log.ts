import type { Context } from '../../context.ts';
import { SotraError, usageError } from '../../errors.ts';
import type { LoggedRequest } from '../../lib/logged-request.ts';
import type { Result } from '../../lib/output/result.ts';
import { fitsRequest, parseExpected } from '../../sandbox/serve/fault.ts';
import { maxLogged } from '../../sandbox/serve/request-log.ts';
import type { LogInput } from './params.ts';
import { askServed, findServed } from './served.ts';
import { logView } from './view.ts';

const defaultLogged = 50;

export async function showLog(
  { expect, limit = expect === undefined ? defaultLogged : maxLogged, readyFile }: LogInput,
  context: Context,
): Promise<Result> {
  const expected = expect?.map(readExpected) ?? [];
  const served = await findServed(context, readyFile);
  const answer = (await askServed(context, served, 'GET', `log?limit=${limit}`)) as LoggedRequest[];
  for (const each of expected) checkExpected(each, answer);
  return { kind: 'answer', answer, view: logView };
}

/** Errors: `usage`. */
function readExpected(text: string) {
  const expected = parseExpected(text);
  if (expected !== undefined) return { text, ...expected };
  throw usageError(
    `--expect ${text}: must be '<METHOD path>' or '<METHOD path>=<n>', such as 'POST /v1/**' or 'GET /v2/leaderboard=2'`,
  );
}

/** Errors: `verification` if the requests were not made. */
function checkExpected(
  { text, count, ...named }: ReturnType<typeof readExpected>,
  requests: readonly LoggedRequest[],
): void {
  const found = requests.filter(({ method, path }) => fitsRequest(named, method, path)).length;
  if (count === undefined ? found > 0 : found === count) return;
  const times = count === undefined ? 'at least 1' : String(count);
  throw new SotraError('verification', `--expect '${text}': expected ${times}, found ${found}`, {
    hint: 'sotra sandbox log shows the requests.',
  });
}
