import { existsSync, linkSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setWorldOffset, worldOffset } from '../../src/sandbox/db/settings.ts';
import { openDb } from '../../src/sandbox/db/store.ts';
import { ensureWorld } from '../../src/sandbox/db/world.ts';

interface Copy {
  nowMs: number;
  bytes: Uint8Array;
}

/** The last that this process made. Of this machine's clock, one may be as old as `maxAgeMs`. */
const copies: Copy[] = [];
const [maxCopies, maxAgeMs] = [6, 60_000];

/** Makes a database with the demo world, from a copy that this process made before, which takes a tenth of the time. */
export function copyDemo(file: string, nowMs: number): void {
  if (existsSync(file) || existsSync(`${file}-wal`)) return;
  const olderMs = Math.abs(Date.now() - nowMs) < 1000 ? maxAgeMs : 0;
  let copy = copies.find((made) => made.nowMs <= nowMs && made.nowMs >= nowMs - olderMs);
  if (copy === undefined) {
    copy = { nowMs, bytes: makeDemo(nowMs) };
    copies.push(copy);
    copies.splice(0, copies.length - maxCopies);
  }
  const draft = `${file}.copy`;
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(draft, copy.bytes, { mode: 0o600 });
    linkSync(draft, file);
  } catch {
    // The program, which finds no file, says why none can be made.
  }
  rmSync(draft, { force: true });
}

/** The first one is made as the sandbox does; it differs from one of another moment in how far its times are moved. */
function makeDemo(nowMs: number): Uint8Array {
  const folder = mkdtempSync(join(tmpdir(), 'sotra-demo-'));
  try {
    const [file, first] = [join(folder, 'demo.db'), copies[0]];
    if (first !== undefined) writeFileSync(file, first.bytes);
    const db = openDb(file);
    if (first === undefined) ensureWorld(db, nowMs, 'demo');
    else setWorldOffset(db, worldOffset(db) + nowMs - first.nowMs);
    // Closing leaves the world in the log beside the file.
    db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    db.close();
    return readFileSync(file);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
