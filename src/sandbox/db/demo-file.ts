import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { brotliDecompress, brotliDecompressSync } from 'node:zlib';

/** The database of a demo sandbox, which the build writes packed to dist/; sources that a test runs lie elsewhere. */
const demoUrl = new URL(import.meta.url.endsWith('.ts') ? '../../../dist/demo.db.br' : 'demo.db.br', import.meta.url);

/** In one piece: by default it would be put together from a hundred. */
const inOnePiece = { chunkSize: 4 * 1024 * 1024 };

/** The bytes of the demo's database. */
export const readDemo = (): Buffer => brotliDecompressSync(readFileSync(demoUrl), inOnePiece);

/** The same, unpacked by another thread while this one loads the sandbox. */
export const readDemoAside = (): Promise<Buffer> => promisify(brotliDecompress)(readFileSync(demoUrl), inOnePiece);
