/** Whether a text is an address that something can be sent to over http or https. */
export function isHttpAddress(text: string): boolean {
  try {
    const { protocol, username, password } = new URL(text);
    // Node throws where a name or password is not percent-encoded well.
    decodeURIComponent(username + password);
    return /^https?:$/.test(protocol);
  } catch {
    return false;
  }
}
