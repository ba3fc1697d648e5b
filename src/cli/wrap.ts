/** The text as lines of at most `width` characters, broken at spaces; a longer word stands alone. At least one line. */
export function wrapWords(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const joined = line === '' ? word : `${line} ${word}`;
    if (joined.length > width && line !== '') {
      lines.push(line);
      line = word;
    } else line = joined;
  }
  return [...lines, line];
}

/**
 * Prose as paragraphs of at most `width` characters. A line that does not end a sentence continues in the next one; lines with
 * columns in them (two spaces) stay apart, continued below their last column.
 */
export function wrapProse(text: string, width: number): string[] {
  const paragraphs: string[] = [];
  for (const line of text.split('\n')) {
    const before = paragraphs.at(-1);
    const joins = before !== undefined && !/[.:!?]$/.test(before) && !/ {2}/.test(before) && !/ {2}/.test(line);
    if (joins && line !== '' && before !== '') paragraphs[paragraphs.length - 1] = `${before} ${line}`;
    else paragraphs.push(line);
  }
  return paragraphs.flatMap((paragraph) => {
    const [lead = ''] = /^.*?(?<! ) {2,}(?=\S)/.exec(paragraph) ?? [];
    const room = Math.max(20, width - lead.length);
    const indent = ' '.repeat(lead.length);
    return wrapWords(paragraph.slice(lead.length), room).map((line, index) => (index === 0 ? lead : indent) + line);
  });
}
