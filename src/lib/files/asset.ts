import { readdirSync, readFileSync } from 'node:fs';
import * as sea from 'node:sea';
import { fileURLToPath } from 'node:url';

/** Whether the program is one file, with Node and its assets inside. */
export const isSingleFile = sea.isSea();

/** Where the build puts the assets; a test runs the sources, in another folder. */
const folder = new URL(import.meta.url.endsWith('.ts') ? '../../../dist/' : './', import.meta.url);

/** The path of such a file, to start it as a program; not for a single-file program. */
export function assetPath(name: string): string {
  return fileURLToPath(new URL(name, folder));
}

/** A file that the build made or copied, such as `web/style.css`. */
export function readAsset(name: string): Buffer {
  return isSingleFile ? Buffer.from(sea.getRawAsset(name) as ArrayBuffer) : readFileSync(new URL(name, folder));
}

/** The names of the files in a folder of those, such as `web/`. */
export function listAssets(under: string): string[] {
  if (!isSingleFile) return readdirSync(new URL(under, folder)).map((name) => under + name);
  // Since Node 24, so in each executable.
  const { getAssetKeys } = sea as unknown as { getAssetKeys: () => string[] };
  return getAssetKeys().filter((name) => name.startsWith(under));
}
