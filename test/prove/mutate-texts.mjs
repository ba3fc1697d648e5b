const words = /\p{L}[,;:.]? \p{L}/u;
const plain = ['Identifier', 'MemberExpression', 'CallExpression', 'StringLiteral', 'NumericLiteral'];

/** Texts for people: no mutant is made of their wording. Templates with more than plain expressions are mutated. */
function shouldIgnore({ node }) {
  const text = node.type === 'StringLiteral' ? node.value : wordsOf(node);
  return text !== undefined && words.test(text) ? 'a text for people' : undefined;
}

function wordsOf(node) {
  if (node.type !== 'TemplateLiteral' || node.expressions.some(({ type }) => !plain.includes(type))) return undefined;
  return node.quasis.map(({ value }) => value.raw).join('0');
}

export const strykerPlugins = [{ kind: 'Ignore', name: 'texts', value: { shouldIgnore } }];
