/** Lines of at most `width`, broken at spaces; a wider word in the pieces that `split` makes of it, by default alone. At least one line. */
export function wrapWords(
  text: string,
  width: number,
  measure: (text: string) => number = (line) => line.length,
  split: (word: string) => string[] = (word) => [word],
): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const joined = line === '' ? word : `${line} ${word}`;
    if (measure(joined) <= width) {
      line = joined;
      continue;
    }
    if (line !== '') lines.push(line);
    const pieces = split(word);
    line = pieces.pop() ?? '';
    lines.push(...pieces);
  }
  return line === '' && lines.length > 0 ? lines : [...lines, line];
}
