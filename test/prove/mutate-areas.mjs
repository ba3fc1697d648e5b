const within = (folder, names) => names.split(' ').map((name) => `src/${folder}/${name}.ts`);
const api = (names) => within('api', names);
const comment = (names) => within('resources/comment', names);
const webhook = (names) => within('resources/webhook', names);
const tests = (names) => names.split(' ');

/**
 * What is mutated together, and the tests in this process that are about it: those that start the built program see no mutant. Few tests,
 * and quick ones, since each mutant starts them anew.
 */
export const areas = {
  retry: { files: api('retry'), tests: tests('retry') },
  request: {
    files: api('request endpoint kind kind-of body http preview failures'),
    tests: tests('encode kinds preview failures body'),
  },
  wire: { files: api('wire'), tests: tests('wire-names') },
  client: { files: api('client'), tests: tests('client http http-limits') },
  secrets: { files: api('secrets'), tests: tests('secrets') },
  transport: { files: api('transport'), tests: tests('transport http http-limits') },
  answers: { files: api('fits item-lines'), tests: tests('fits item-lines') },
  pages: { files: api('paginate'), tests: tests('pages') },
  documents: { files: api('har openapi'), tests: tests('har trace openapi openapi-document') },
  signature: { files: webhook('signature'), tests: tests('webhook-verify webhook-header') },
  positions: {
    files: within('sandbox', 'positions lots'),
    tests: tests('positions positions-hyperliquid position-edges'),
  },
  signing: {
    files: comment('signing signed verify evm solana swap-fields'),
    tests: tests('signing-rules signing-vectors signing-text comment-sign comment-read'),
  },
  curve: { files: comment('secp256k1 keccak'), tests: tests('signing-vectors signing-independent curve') },
  'comment-read': { files: comment('read-comment read-signed'), tests: tests('comment-read') },
  'comment-sign': { files: comment('run-sign run-verify open-signer'), tests: tests('comment-sign') },
  'comment-post': { files: comment('run-post send'), tests: tests('comment-send comment-ways comment-post') },
  'secret-arguments': { files: comment('secret-arguments'), tests: tests('secret-arguments') },
  'key-forms': { files: comment('keys/keystore keys/private-key'), tests: tests('key-forms') },
  keys: {
    files: comment('keys/key-folder keys/key-store keys/open-key'),
    tests: tests('key-files key-asked'),
  },
  addresses: {
    files: [...webhook('addresses address-file address-set'), 'src/model/hex-set.ts'],
    tests: tests('address-set address-file read-address webhook-addresses first-pass'),
  },
  'first-pass': { files: webhook('first-pass'), tests: tests('first-pass') },
  upload: {
    files: webhook('upload register journal jobs patience'),
    tests: tests('upload-engine upload-edges upload-broken webhook-upload'),
  },
  'run-upload': {
    files: webhook('run-upload address-source secret-file show-upload'),
    tests: tests('upload-told upload-again upload-preview'),
  },
  figures: { files: within('output', 'format'), tests: tests('format') },
};
