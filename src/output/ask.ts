import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';

/** A question at the terminal. `stop` is aborted when the user gives up. */
interface Question {
  question: string;
  hidden: boolean;
  input: NodeJS.ReadableStream;
  output: NodeJS.WritableStream;
  stop: AbortController;
}

/**
 * One line typed by the user, without its end. Of a hidden one nothing is shown. Rejects and aborts `stop` on Ctrl-C, Ctrl-D, and
 * when `stop` was aborted meanwhile.
 */
export function askLine({ question, hidden, input, output, stop }: Question): Promise<string> {
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  // The terminal stops showing what is typed when the interface is made, so that comes before the question.
  const lines = createInterface({ input, output: hidden ? silent : output, terminal: true, historySize: 0 });
  if (hidden) output.write(question);
  return new Promise<string>((resolve, reject) => {
    const giveUp = () => lines.close();
    stop.signal.addEventListener('abort', giveUp, { once: true });
    lines.on('SIGINT', giveUp);
    lines.on('close', () => {
      output.write(hidden ? '\n' : '');
      stop.signal.removeEventListener('abort', giveUp);
      reject(new Error('nothing was answered'));
      stop.abort();
    });
    lines.question(hidden ? '' : question, (answer) => {
      resolve(answer);
      lines.removeAllListeners('close');
      stop.signal.removeEventListener('abort', giveUp);
      if (hidden) output.write('\n');
      lines.close();
    });
  });
}
