import type { Worker } from 'node:worker_threads';
import { SotraError } from '../../../../errors.ts';
import type { ThreadAnswer, ThreadRequest } from './inbox-thread.ts';

/** One answer for each request, in their order. */
export function callsOf(thread: Worker): (request: ThreadRequest) => Promise<ThreadAnswer> {
  const calls: { resolve: (answer: ThreadAnswer) => void; reject: (error: unknown) => void }[] = [];
  let gone: SotraError | undefined;
  const end = (cause?: unknown) => {
    gone ??= new SotraError('internal', 'the thread that stores deliveries has ended', { cause });
    for (const { reject } of calls.splice(0)) reject(gone);
  };
  const settle = ({ failure, ...answer }: ThreadAnswer): void => {
    const next = calls.shift();
    if (failure === undefined) next?.resolve(answer);
    else next?.reject(new SotraError('local-file', failure.message, { hint: failure.hint }));
  };
  thread.on('message', (answers: string) => (JSON.parse(answers) as ThreadAnswer[]).forEach(settle));
  thread.on('error', end);
  thread.on('exit', () => end());
  return (request) =>
    new Promise((resolve, reject) => {
      if (gone !== undefined) return reject(gone);
      calls.push({ resolve, reject });
      thread.postMessage(request, request.kind === 'commit' ? [request.bodies.buffer as ArrayBuffer] : []);
    });
}
