/** Rules and rows that a client could see and no check asks yet: to be emptied. */
export const STILL_TO_ASK =
  'DL30, DL43, RT186, SB20, SB70, SB71, SB72, SB73, SB74, SB110, SB111, SV5, SV70, SV72, SV73, SV74, SV75, SV76, SV41, SV42, SV43, SV51, SV52, SV56, SV90, SV91, SV92, SV93, SV94, SV95, SV96, SV98, SV131, SV60, SV61, SV62, SV63, SV64, SV65, SV66, SV67, SV69, T3';
