package reproduce

// all is in the order of the paper.
var all = []*Experiment{fcTable1, fcTable3, fcFig14, fcFig4, fcFig6, fcTable2}
