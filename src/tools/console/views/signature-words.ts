// How an integrator finds out why a signature of theirs is another. No part of the page: a test needs no browser.

/** What was signed, and what the attempt sent. */
export type Signed = { text: string; header: string | undefined; ofBody: string | undefined }

function differenceOf(mine: string, right: string): string {
  let at = 0
  while (at < right.length && mine[at] === right[at]) at++
  const [yours, ours] = [mine, right].map((text) => JSON.stringify(text.slice(at, at + 20)))
  return `The first difference is at character ${at + 1}: yours has ${yours}, ours ${ours}.`
}

const hexOf = (base64: string) =>
  [...atob(base64)].map((one) => one.charCodeAt(0).toString(16).padStart(2, '0')).join('')

/** Compares what the code of the user computed with what was sent: a signature with or without `v1,`, or the signed text. */
export function compareText(mine: string, { text, header = '', ofBody = '' }: Signed): string {
  const given = mine.trim()
  if (given === '') return ''
  if (given === text.trim()) return 'Equal: you sign the right text.'
  // Longer than signatures, or with spaces, braces and dots.
  if (given.length > 200 || /[^\w+/=, -]/.test(given))
    return `Another text is signed. ${differenceOf(given, text)}`
  const right = header.split(' ').map((one) => one.replace(/^v1,/, ''))
  const bare = given.replace(/^v1,/, '')
  if (given === header || right.includes(bare)) return 'Equal: it verifies.'
  if (bare === ofBody) return 'Equal to x-webhook-signature, which is of the body alone.'
  const isHex = /^[\da-f]{64}$/i.test(bare)
  if (isHex && header !== '' && bare.toLowerCase() === hexOf(right[0]!))
    return 'The same in hex, but webhook-signature is base64.'
  const like = (isHex && ofBody) || right[0] || ofBody
  return `Not equal. ${differenceOf(bare, like)} Compare the text that you sign, and the secret.`
}
