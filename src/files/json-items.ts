import { isUtf8 } from 'node:buffer';
import { usageError } from '../errors.ts';
import { parseJson, whyNotJson } from '../model/json.ts';
import type { TextFile } from './text-file.ts';

export interface Item {
  number: number;
  value: unknown;
}

const maxItemBytes = 16 * 1024 * 1024;

const [quote, backslash, comma, bracket, brace] = [0x22, 0x5c, 0x2c, 0x5b, 0x7b];

/**
 * The items of a file that is one JSON array, in batches. Memory: one item. Errors: `usage` naming the item that is not JSON or too large,
 * and for an array that does not end or is followed by something.
 */
export async function* readItems({ name, chunks }: TextFile): AsyncGenerator<readonly Item[]> {
  const broken = (why: string) => usageError(`${name}: starts with [ and is not a JSON array: ${why}`);
  let [depth, isInString, isEscaped, hasEnded] = [0, false, false, false];
  let [number, parts, partBytes]: [number, Buffer[], number] = [0, [], 0];
  const take = (bytes: Buffer, isLast: boolean): Item[] => {
    const whole = parts.length === 0 ? bytes : Buffer.concat([...parts, bytes]);
    [parts, partBytes] = [[], 0];
    if (isLast && number === 0 && whole.toString('latin1').trim() === '') return [];
    number += 1;
    if (!isUtf8(whole)) throw broken(`item ${number}: not UTF-8 text`);
    try {
      return [{ number, value: parseJson(whole.toString('utf8')) }];
    } catch (cause) {
      throw broken(`item ${number}: ${whyNotJson(cause)}`);
    }
  };
  for await (const chunk of chunks) {
    const items: Item[] = [];
    let from = 0;
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at] ?? 0;
      if (isInString) {
        if (isEscaped) isEscaped = false;
        else if (byte === backslash) isEscaped = true;
        else if (byte === quote) isInString = false;
      } else if (hasEnded) {
        if (byte > 0x20) throw broken('something follows its end');
      } else if (byte === quote) isInString = true;
      else if (byte === comma && depth === 1) {
        items.push(...take(chunk.subarray(from, at), false));
        from = at + 1;
      } else if (byte === bracket || byte === brace) {
        depth += 1;
        if (depth === 1) from = at + 1;
      } else if (byte === bracket + 2 || byte === brace + 2) {
        depth -= 1;
        hasEnded = depth === 0;
        if (hasEnded && byte !== 0x5d) throw broken('a brace ends it');
        if (hasEnded) items.push(...take(chunk.subarray(from, at), true));
      }
    }
    yield items;
    if (hasEnded || from === chunk.length) continue;
    parts.push(chunk.subarray(from));
    partBytes += chunk.length - from;
    if (partBytes > maxItemBytes) throw broken(`item ${number + 1} is larger than ${maxItemBytes / 1024 / 1024} MB`);
  }
  if (!hasEnded) throw broken('it does not end');
}
