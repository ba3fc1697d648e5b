import type { Context } from '../context.ts';
import { findLog, type NumberedEntry, readCalls } from './store.ts';

/** The calls that the log holds of the service in use, newest first; `method` and the end of the path choose. Errors: those of the settings. */
export async function* recallCalls(
  context: Context,
  { method, path }: { method: string; path: RegExp },
): AsyncGenerator<NumberedEntry> {
  const { baseUrl } = await context.service();
  for (const entry of readCalls(findLog(await context.dataDirectory()), context.warn)) {
    const { request, _sotra } = entry;
    if (_sotra.baseUrl === baseUrl && request.method === method && path.test(new URL(request.url).pathname))
      yield entry;
  }
}

/** What was answered; `undefined` for an error, and for an answer of which the log holds the beginning alone. */
export function recallAnswer({ response }: NumberedEntry): string | undefined {
  const isWhole = response.status === 200 && response.content._cut === undefined;
  return isWhole ? response.content.text : undefined;
}
