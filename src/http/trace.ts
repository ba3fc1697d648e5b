import { closeSync, ftruncateSync, writeSync } from 'node:fs';
import { SotraError } from '../errors.ts';
import { openReplaced } from '../files/durable-file.ts';
import { type Exchange, harEntry, harFrame } from './har.ts';

/** An HTTP archive that grows by an entry at a time and is whole after each. */
export interface Trace {
  add: (exchange: Exchange) => void;
  close: () => void;
}

/** Starts an HTTP archive in a file of mode 0600, replacing what was there. Errors: `local-file` where it cannot be written. */
export function openTrace(path: string, version: string): Trace {
  const { head, tail } = harFrame(version);
  const attempt = <T>(act: () => T): T => {
    try {
      return act();
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause);
      throw new SotraError('local-file', `--trace-file ${path}: ${why}`, { hint: 'Choose another file.', cause });
    }
  };
  const file = attempt(() => openReplaced(path));
  let end = 0;
  const put = (text: string) =>
    attempt(() => {
      ftruncateSync(file, end);
      end += writeSync(file, text, end);
      writeSync(file, tail, end);
    });
  put(head);
  let entries = 0;
  return {
    add: (exchange) => {
      put(`${entries === 0 ? '' : ','}\n${JSON.stringify(harEntry(exchange))}`);
      entries += 1;
    },
    close: () => closeSync(file),
  };
}
