import { expect, test } from 'vitest';
import { parseDuration, parseTime } from '../../src/api/duration.ts';
import { safeText } from '../../src/api/safe-text.ts';
import { eventLine } from '../../src/commands/webhook/run-listen.ts';
import {
  formatAge,
  formatAmount,
  formatCount,
  formatPercent,
  formatRatio,
  formatTime,
  formatUsd,
} from '../../src/lib/output/format.ts';
import { wrapWords } from '../../src/lib/output/messages.ts';
import { breakText, cutText, displayWidth } from '../../src/lib/output/text-width.ts';
import { readEvents } from '../../src/webhooks/events.ts';
import { anyCharacter, fc } from '../support/draw.ts';
import { steers } from '../support/hostile/corpus.ts';
import { size } from '../support/size.ts';

const any = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 120 }),
  fc.string({ unit: anyCharacter, maxLength: 120 }),
);
const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

test('figures keep their sign and their size, and are never NaN, undefined or an exponent', () => {
  const figure = fc.oneof(fc.double(), fc.double({ min: -1e9, max: 1e9 }), fc.constantFrom(null, undefined, 0, -0));
  fc.assert(
    fc.property(figure, (value) => {
      const texts = [
        formatUsd(value),
        formatUsd(value, { signed: true, compact: true }),
        formatPercent(value),
        formatRatio(value),
        formatAmount(value),
        formatAmount(value, { compact: true }),
        formatCount(value),
      ];
      for (const text of texts) expect(text).toMatch(/^(?:–|[+-]?∞%?|[+-]?\$?[\d,.]+[KMBT]?%?)$/);
      for (const text of [formatTime(value), formatAge(value, 0)]) expect(text).not.toBe('');
      if (value === null || value === undefined || Number.isNaN(value))
        return void expect(new Set(texts)).toEqual(new Set(['–']));
      if (value < 0) for (const text of texts) expect([value, text]).toEqual([value, expect.stringMatching(/^>?-/)]);
      if (value >= 0) for (const text of texts) expect(text).not.toContain('-');
      expect(texts[1]?.startsWith('+') || value <= 0 || texts[1]?.startsWith('<')).toBe(true);
      // To the cent, and to three digits below a dollar; what is read back is the nearest double to that, and so is their difference.
      const read = Number(texts[0]?.replaceAll(/[$,<>]/g, ''));
      const [size, rounding] = [Math.abs(value), Math.abs(value) * 2 ** -52];
      if (size < 1e15 && size > 1e-9)
        expect(Math.abs(read - value)).toBeLessThanOrEqual((size >= 1 ? 0.00501 : 0.0051 * size) + rounding);
    }),
    { numRuns: size(500, 3000) },
  );
});

test('a time is read as it is written: ISO, Unix seconds and milliseconds', () => {
  const moment = fc.integer({ min: 1_000_000_000_000, max: 9_999_999_999_999 });
  fc.assert(
    fc.property(moment, (ms) => {
      expect(parseTime(new Date(ms).toISOString())).toBe(ms);
      expect(parseTime(String(ms))).toBe(ms);
      const seconds = Math.floor(ms / 1000);
      expect(parseTime(String(seconds))).toBe(seconds * 1000);
      expect(parseTime(formatTime(ms / 1000).replace(' ', 'T'))).toBe(Math.floor(ms / 1000) * 1000);
    }),
  );
  fc.assert(
    fc.property(fc.nat(100_000), fc.constantFrom('ms', 's', 'm', 'h', 'd'), (count, unit) => {
      const size = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }[unit];
      expect(parseDuration(`${count}${unit}`)).toBe(count * size);
    }),
  );
  fc.assert(
    fc.property(any, (text) => {
      for (const read of [parseTime(text), parseDuration(text)])
        expect(read === undefined || Number.isFinite(read)).toBe(true);
    }),
  );
});

test('at every width from 1 to 300 text is cut and broken to fit, and nothing is lost on the way', () => {
  fc.assert(
    fc.property(any.map(safeText), fc.integer({ min: 1, max: 300 }), (text, width) => {
      expect(displayWidth(cutText(text, width))).toBeLessThanOrEqual(width);
      const lines = breakText(text, width);
      expect(lines.join('')).toBe(text);
      for (const line of lines) if (displayWidth(line) > width) expect([...graphemes.segment(line)]).toHaveLength(1);
    }),
    { numRuns: size(300, 1500) },
  );
  const prose = fc.array(fc.string({ unit: fc.constantFrom(...'ab.,: '), maxLength: 30 }), { maxLength: 8 });
  fc.assert(
    fc.property(prose, fc.integer({ min: 1, max: 300 }), (parts, width) => {
      const words = parts.join(' ');
      const inOrder = (text: string) => text.replaceAll(/\s/g, '');
      expect(inOrder(wrapWords(words, width).join(' '))).toBe(inOrder(words));
      for (const line of wrapWords(words, width)) expect(line.length <= width || !line.trim().includes(' ')).toBe(true);
    }),
  );
});

test('whatever a delivery contains, each of its events is shown on one safe line', () => {
  const odd = fc.jsonValue({ maxDepth: 3 });
  const named = fc.record(
    {
      eventId: fc.oneof(any, odd),
      eventType: fc.oneof(fc.constantFrom('copyswap', 'comment-created'), any, odd),
      reason: odd,
      comment: fc.oneof(odd, fc.record({ commentText: fc.oneof(any, odd) })),
      copyswapActor: odd,
      copyswapTrade: fc.oneof(odd, fc.record({ usdCost: fc.oneof(fc.double(), odd) })),
      feedItem: fc.oneof(
        odd,
        fc.record({
          actor: odd,
          itemTitle: fc.oneof(any, odd),
          metadata: fc.record({ trades: odd, tokenSymbol: fc.oneof(any, odd) }),
        }),
      ),
    },
    { requiredKeys: [] },
  );
  const body = fc
    .oneof(odd, named, fc.record({ events: fc.oneof(odd, fc.array(fc.oneof(odd, named))) }))
    .map((value) => JSON.stringify(value));
  fc.assert(
    fc.property(fc.oneof(body, any), fc.constantFrom(undefined, 1, 60, 120), (text, width) => {
      for (const event of readEvents(Buffer.from(text))) {
        const line = eventLine(event, 1_800_000_000_000, width);
        expect(steers.exec(line.replaceAll('\t', ' '))?.[0]).toBe(undefined);
        expect([line.split('\n').length, line.split('\t').length]).toEqual([1, width === undefined ? 5 : 1]);
      }
    }),
    { numRuns: size(250, 1000) },
  );
});
