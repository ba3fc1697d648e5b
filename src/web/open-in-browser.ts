import open from 'open';

/** Starts the browser, `program` in place of the default one. Errors: where none can be started; that one fails later is not known. */
export async function openInBrowser(url: string, program: string | undefined): Promise<void> {
  await open(url, program ? { app: { name: program } } : {});
}
