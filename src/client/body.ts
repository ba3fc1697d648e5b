import { Readable } from 'node:stream';
import { SotraError } from '../errors.ts';

const decoders = {
  gzip: 'createGunzip',
  'x-gzip': 'createGunzip',
  br: 'createBrotliDecompress',
  deflate: 'createInflate',
} as const;

/** The largest answer that is read. */
export const maxAnswerBytes = 64 * 1024 ** 2;

/**
 * The whole body of an answer: its text without a byte order mark, and how many bytes it had. An empty body is empty in any encoding. Errors:
 * `bad-answer` for more than `maxBytes`, compressed or not, and for an encoding that is unknown or does not decode.
 */
export async function readBody(
  incoming: AsyncIterable<Uint8Array>,
  encoding: string | undefined,
  maxBytes: number,
): Promise<{ text: string; bytes: number }> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of decode(incoming, encoding, maxBytes)) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw tooLarge(maxBytes);
    chunks.push(chunk);
  }
  return { text: new TextDecoder().decode(Buffer.concat(chunks)), bytes };
}

function decode(
  incoming: AsyncIterable<Uint8Array>,
  encoding: string | undefined,
  maxBytes: number,
): AsyncIterable<Uint8Array> {
  const name = encoding?.trim().toLowerCase() ?? '';
  if (name === '' || name === 'identity') return incoming;
  const isKnown = Object.hasOwn(decoders, name);
  return isKnown ? inflate(incoming, name as keyof typeof decoders, maxBytes) : refuseEncoding(incoming, name);
}

async function* refuseEncoding(incoming: AsyncIterable<Uint8Array>, name: string): AsyncIterable<Uint8Array> {
  for await (const chunk of incoming) {
    if (chunk.length > 0)
      throw new SotraError('bad-answer', `the service answered in an unknown encoding: ${name}`, {
        hint: 'Supported: gzip, deflate and br. A proxy may be the cause.',
      });
    yield chunk;
  }
}

async function* inflate(
  incoming: AsyncIterable<Uint8Array>,
  name: keyof typeof decoders,
  maxBytes: number,
): AsyncIterable<Uint8Array> {
  let received = 0;
  async function* limit(): AsyncIterable<Uint8Array> {
    for await (const chunk of incoming) {
      received += chunk.length;
      if (received > maxBytes) throw tooLarge(maxBytes);
      yield chunk;
    }
  }
  const decoder = (await import('node:zlib'))[decoders[name]]();
  const source = Readable.from(limit()).on('error', (error) => decoder.destroy(error));
  try {
    for await (const chunk of source.pipe(decoder)) yield chunk as Uint8Array;
  } catch (cause) {
    const { code } = cause as { code?: string };
    if (code === undefined || !/^(Z_|ERR_)/.test(code)) throw cause;
    if (received === 0) return;
    throw new SotraError('bad-answer', `the service answered with ${name} that does not decode: ${code}`, {
      hint: 'A proxy may be the cause: --verbose shows the headers.',
      cause,
    });
  } finally {
    source.destroy();
    decoder.destroy();
  }
}

function tooLarge(maxBytes: number): SotraError {
  return new SotraError('bad-answer', `the answer is larger than ${formatSize(maxBytes)}`, {
    hint: 'Request fewer items with --limit.',
    outcome: 'unknown',
  });
}

function formatSize(bytes: number): string {
  if (bytes % 1024 ** 2 === 0) return `${bytes / 1024 ** 2} MB`;
  return bytes % 1024 === 0 ? `${bytes / 1024} KB` : `${bytes} bytes`;
}
