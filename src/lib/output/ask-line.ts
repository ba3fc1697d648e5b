import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { terminalText } from '../../api/safe-text.ts';

interface Question {
  question: string;
  hidden: boolean;
  input: NodeJS.ReadableStream;
  output: NodeJS.WritableStream;
  stop: AbortController;
}

/** One line typed by the user; a hidden one is not shown. Rejects and aborts `stop` on Ctrl-C and Ctrl-D, or when `stop` is aborted. */
export function askLine({ question, hidden, input, output, stop }: Question): Promise<string> {
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  // Before the question: from here on the terminal does not echo.
  const lines = createInterface({ input, output: hidden ? silent : output, terminal: true, historySize: 0 });
  const asked = terminalText(question);
  if (hidden) output.write(asked);
  return new Promise<string>((resolve, reject) => {
    const closeLines = () => lines.close();
    stop.signal.addEventListener('abort', closeLines, { once: true });
    lines.on('SIGINT', closeLines);
    // Readline would let the terminal echo again and stop; if it cannot stop (docker run -it), a secret would show.
    if (hidden) lines.on('SIGTSTP', () => undefined);
    const endUnanswered = () => {
      output.write(hidden ? '\n' : '');
      stop.signal.removeEventListener('abort', closeLines);
      reject(new Error('nothing was answered'));
      stop.abort();
    };
    lines.on('close', endUnanswered);
    lines.question(hidden ? '' : asked, (answer) => {
      resolve(answer);
      // The others are readline's: they stop it reading keys, and a line left reading echoes each later one.
      lines.off('close', endUnanswered);
      stop.signal.removeEventListener('abort', closeLines);
      if (hidden) output.write('\n');
      lines.close();
    });
  });
}
