import { chooseScale, formatFigure, sumParts } from '../output/chart.ts';
import { chooseTone } from '../output/format.ts';
import type { Bar, BarChart } from '../output/view.ts';

/** A text from anywhere as HTML. */
export type WriteText = (text: string) => string;

const maxBars = 50;
/** In percent of the room: also the least figure is seen. */
const minPart = 0.4;

/** A chart as HTML: a line a bar, gains to the right of zero and losses to the left on one scale. Empty without data. */
export function renderBars(chart: BarChart, write: WriteText): string {
  const bars = chart.bars.slice(0, maxBars);
  const scale = chooseScale(bars);
  const maxGain = scale.place(Math.max(0, ...bars.map((bar) => sumParts(bar, 1))));
  const maxLoss = scale.place(Math.max(0, ...bars.map((bar) => sumParts(bar, -1))));
  const range = maxGain + maxLoss;
  if (range === 0) return '';
  const shown = chart.series.filter((_, index) => bars.some(({ partsUsd }) => (partsUsd[index] ?? 0) !== 0));
  const fill = (series: number, part: number) => (shown.length > 1 ? `series-${series}` : chooseTone(part));
  const lines = bars.map((bar) => {
    const figure = `<span class="figure ${chooseTone(bar.totalUsd)}">${formatFigure(bar.totalUsd, chart, true)}</span>`;
    const parts = placeParts(bar, scale.place, maxLoss, range).map(({ series, part, left, width }) => {
      const says = `${chart.series[series]}: ${formatFigure(part, chart, true)}`;
      return `<rect class="${fill(series, part)}" x="${left}%" width="${width}%" height="14"><title>${write(says)}</title></rect>`;
    });
    const zero = percent(maxLoss / range);
    const axis = `<line x1="${zero}%" x2="${zero}%" y2="14"/>`;
    return `<li><bdi>${write(bar.label.trim())}</bdi>${figure}<svg aria-hidden="true">${parts.join('')}${axis}</svg></li>\n`;
  });
  const legend = chart.series.flatMap((name, series) =>
    shown.length > 1 && shown.includes(name)
      ? `<li><svg aria-hidden="true"><rect class="series-${series}" width="14" height="14"/></svg>${write(name)}</li>`
      : [],
  );
  const more = chart.bars.length > maxBars ? `: the first ${maxBars} of ${chart.bars.length}` : '';
  return `<figure>
<figcaption><h2>${write(chart.title + scale.says + more)}</h2></figcaption>
${legend.length === 0 ? '' : `<ul class="legend">${legend.join('')}</ul>\n`}<ol class="bars">
${lines.join('')}</ol>
</figure>
`;
}

/** The parts of a bar, from zero outwards, in proportion and in percent of the room. */
function placeParts(bar: Bar, place: (value: number) => number, maxLoss: number, range: number) {
  const reached = { gain: maxLoss, loss: maxLoss };
  return bar.partsUsd.flatMap((part, series) => {
    if (part === null || part === 0) return [];
    const side = sumParts(bar, part < 0 ? -1 : 1);
    const size = (part / side) * place(side);
    const width = Math.max(percent(Math.abs(size) / range), minPart);
    if (part < 0) {
      reached.loss += size;
      return [{ series, part, left: percent(reached.loss / range), width }];
    }
    const left = percent(reached.gain / range);
    reached.gain += size;
    return [{ series, part, left, width }];
  });
}

function percent(share: number): number {
  return Math.round(share * 10_000) / 100;
}
