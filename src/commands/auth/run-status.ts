import { command } from '../../client/shell.ts';
import type { Context } from '../../context.ts';
import { orUndefined, SotraError, usageError } from '../../errors.ts';
import type { Service } from '../../lib/config/settings.ts';
import type { Result } from '../../lib/output/result.ts';
import { checkRequest } from '../check-request.ts';
import { type AuthStatus, describeStatus, statusView } from './view.ts';

/** Errors: `no-service`; `key-missing` with the status as details; with `check` those of a call. */
export async function showStatus(check: boolean, context: Context): Promise<Result> {
  const { preview, curl } = context.options;
  if (preview && !check)
    throw usageError(`${curl ? '--curl' : '--dry-run'} needs --check: without it nothing is sent`, 'Add --check.');
  if (preview) return { kind: 'request', request: await context.client.previewRequest(checkRequest) };
  const service = await context.config.service();
  const status = describeStatus(service);
  if (service.apiKey === null) throw missingKey(service, status);
  const notes = service.keyStore === 'file' ? [`The settings are in ${(await context.config.settings()).path}.`] : [];
  if (!check) return { kind: 'answer', answer: status, view: statusView, notes };
  const accepted = await orUndefined(context.client.request(checkRequest), 'key-refused', 'forbidden');
  const valid = accepted !== undefined;
  return { kind: 'answer', answer: { ...status, valid }, view: statusView, notes, exitCode: valid ? 0 : 4 };
}

function missingKey({ baseUrl, context, keyProblem }: Service, details: AuthStatus): SotraError {
  const why = keyProblem === undefined ? '' : `; ${keyProblem}`;
  const login = context === undefined ? 'sotra auth login' : command`sotra auth login --context ${context}`;
  return new SotraError('key-missing', `no API key for ${baseUrl}${why}`, {
    hint: `Store one: ${login}. Or set SOTRA_API_KEY.`,
    details,
  });
}
