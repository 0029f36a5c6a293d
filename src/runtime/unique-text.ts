const number = () => Math.floor(Math.random() * 2 ** 48)

/** A text of 12 hexadecimal digits that no other process is likely to have. It is no secret. */
export const uniqueText = (): string => number().toString(16).padStart(12, '0')
