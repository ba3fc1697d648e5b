import { Chalk } from 'chalk';
import type { Tone } from './view.ts';

export type Palette = ReturnType<typeof createPalette>;

export interface DrawOptions {
  width: number;
  palette: Palette;
}

/** Uses only the 16 colors of the user's theme, so it reads on light and dark. */
export function createPalette(hasColors: boolean) {
  const paint = new Chalk({ level: hasColors ? 1 : 0 });
  const tones: Record<Tone, (text: string) => string> = {
    gain: paint.green,
    loss: paint.red,
    muted: paint.dim,
    strong: paint.bold,
    plain: (text) => text,
  };
  return {
    tone: (tone: Tone, text: string) => tones[tone](text),
    title: paint.bold,
    dim: paint.dim,
  };
}
