const fourDigits = () =>
  Math.floor(Math.random() * 0x1_0000)
    .toString(16)
    .padStart(4, '0')

/** A text of hexadecimal digits, a multiple of four, that no other process is likely to have. It is no secret. */
export const uniqueText = (digits: number): string =>
  Array.from({ length: digits / 4 }, fourDigits).join('')
