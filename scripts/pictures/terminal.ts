/** The colors of the sixteen that programs choose from which ours uses, on a dark ground. */
const colors: Readonly<Record<string, string>> = {
  31: '#ff938b',
  32: '#71d392',
  33: '#f0c069',
  34: '#8db4ff',
  35: '#d7a5ff',
  36: '#7fd4e0',
  90: '#a0a9b6',
};
const [charWidth, lineHeight, margin] = [8.43, 19, 16];

/** What a terminal shows of a command and its output, with its colors, as an SVG. */
export function terminalPicture(command: string, output: string): string {
  const lines = [`\u001b[90m$ \u001b[39m${command}`, ...output.trimEnd().split('\n')];
  const widest = Math.max(...lines.map((line) => line.replaceAll(/\u001b\[[\d;]*m/g, '').length));
  const [width, height] = [widest * charWidth + 2 * margin, lines.length * lineHeight + 2 * margin];
  const texts = lines.map(
    (line, index) =>
      `<text x="${margin}" y="${margin + 14 + index * lineHeight}" xml:space="preserve">${painted(line)}</text>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${Math.ceil(width)} ${height}" width="${Math.ceil(width)}" height="${height}">
<title>sotra ${escaped(command)}</title>
<rect width="100%" height="100%" rx="8" fill="#14171c"/>
<g fill="#e7eaee" font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="14">
${texts.join('\n')}
</g>
</svg>
`;
}

function painted(line: string): string {
  let [color, isBold] = ['', false];
  return line
    .split(/\u001b\[([\d;]*)m/)
    .map((part, index) => {
      if (index % 2 === 0) {
        const style = `${color && ` fill="${color}"`}${isBold ? ' font-weight="bold"' : ''}`;
        return part === '' ? '' : `<tspan${style}>${escaped(part)}</tspan>`;
      }
      for (const code of part.split(';')) {
        if (code === '1' || code === '22' || code === '0' || code === '') isBold = code === '1';
        if (colors[code] !== undefined || ['0', '', '39'].includes(code)) color = colors[code] ?? '';
        // Dim.
        if (code === '2') color = colors[90] ?? '';
        if (code === '22') color = '';
      }
      return '';
    })
    .join('');
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
